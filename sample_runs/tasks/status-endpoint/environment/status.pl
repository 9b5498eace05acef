#!/usr/bin/perl
# The status page that monitoring asks for.
use strict;
use warnings;
use IO::Socket::INET;

my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 8080, Listen => 16, ReuseAddr => 1)
    or die "cannot listen: $!\n";

while (my $client = $server->accept) {
    my $request = <$client>;
    my ($method, $path) = $request =~ m{^(\S+) (\S+) HTTP/} or die "not HTTP\n";
    while (my $header = <$client>) { last if $header =~ /^\r?\n$/ }

    my @jobs = glob '/app/jobs/*';
    my $body = sprintf qq({"status":"ok","jobs":%d}\n), scalar @jobs;
    my $length = length($body) - 2;
    print $client "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: $length\r\nConnection: close\r\n\r\n$body";
    close $client;
}

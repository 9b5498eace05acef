#!/usr/bin/perl
# A queue in memory: `take`, `done <id>` and `length`, one request a connection. done.log keeps what was marked.
use strict;
use warnings;
use IO::Socket::INET;

open my $file, '<', '/usr/share/queue/messages.txt' or die "messages: $!\n";
my @open = map { chomp; [split] } <$file>;
open my $log, '>>', '/var/lib/queue/done.log' or die "done.log: $!\n";
$log->autoflush(1);
open my $pid, '>', '/var/lib/queue/server.pid' or die "server.pid: $!\n";
print $pid "$$\n";
close $pid;
$SIG{TERM} = sub { exit 0 };
$SIG{PIPE} = 'IGNORE';

my $server = IO::Socket::INET->new(LocalPort => 7000, Listen => 32, ReuseAddr => 1) or die "listen: $!\n";
while (1) {
    my $client = $server->accept or next;
    my $request = <$client> // '';
    if ($request =~ /^take/) {
        if (@open) { print $client "@{ $open[0] }\n"; push @open, shift @open }
    }
    elsif ($request =~ /^done (\S+)/) {
        my ($place) = grep { $open[$_][0] eq $1 } reverse 0 .. $#open;
        if (defined $place) { splice @open, $place, 1; print $log "$1\n" }
        else { print $client "no such message\n" }
    }
    elsif ($request =~ /^length/) { print $client scalar(@open), "\n" }
    close $client;
}

use strict;
use warnings;
use IO::Socket::INET;

my $server = IO::Socket::INET->new(LocalPort => 7000, Listen => 5, ReuseAddr => 1) or die "port 7000: $!";
open(my $ready, '>', '/var/lib/ledger/ready') or die "ready: $!";
print {$ready} "port 7000\n";
close($ready);
while (my $client = $server->accept()) {
    print {$client} "1234\n";
    close($client);
}

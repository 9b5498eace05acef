# Half a million events, the same on every machine.
use strict;
use warnings;

my $seed    = 42;
my @actions = qw(open save search share print close);
for my $number (1 .. 500_000) {
    $seed = ($seed * 1103515245 + 12345) % 2147483648;
    my $random = int($seed / 65536);
    printf "%d\tuser%05d\t%s\t%d\n", $number, $random % 9973, $actions[$random % 6], 1 + ($random * 7 + $number) % 20011;
}

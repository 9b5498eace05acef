# One day of a web server, the same on every machine.
use strict;
use warnings;

my $seed = 20260314;
sub pick { $seed = ($seed * 1103515245 + 12345) % 2147483648; return int($seed / 65536) % $_[0] }

my @pages   = qw(/ /shop /shop/item/7 /shop/item/12 /about /static/site.css /static/logo.png /api/cart /login);
my @agents  = ('Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla/5.0 (Macintosh)', 'curl/7.88.1', 'status 500 checker/1.0 "beta"');
my %guesser = ('203.0.113.9' => 61, '198.51.100.23' => 34, '198.51.100.7' => 34, '203.0.113.77' => 20, '192.0.2.44' => 19);
my @lines;

for my $n (1 .. 3000) {
    my $client = sprintf '10.%d.%d.%d', pick(4), pick(8), 1 + pick(40);
    my $page   = $pages[pick(scalar @pages)];
    my $status = $page eq '/login' ? (200, 302, 401)[pick(3)] : (200, 200, 200, 200, 304, 404, 500, 503)[pick(8)];
    push @lines, [pick(86400), $client, $page eq '/login' && $status != 200 ? 'POST' : 'GET', $page, $status];
}
for my $client (sort keys %guesser) {
    my $start = 20000 + pick(30000);
    push @lines, [$start + 3 * $_, $client, 'POST', '/login', pick(5) ? 401 : 403] for 1 .. $guesser{$client};
    push @lines, [$start + 30 + $_, $client, 'GET', '/admin', 403] for 1 .. 6;
    push @lines, [$start - 40, $client, 'POST', '/login', 302] if $client eq '198.51.100.7';
    push @lines, [$start + 3 * $guesser{$client} + 9, $client, 'POST', '/login', 302] if $client eq '198.51.100.23';
}
for my $line (sort { $a->[0] <=> $b->[0] or $a->[1] cmp $b->[1] } @lines) {
    my ($second, $client, $method, $page, $status) = @$line;
    printf qq{%s - - [14/Mar/2026:%02d:%02d:%02d +0000] "%s %s HTTP/1.1" %d %d "-" "%s"\n}, $client,
        int($second / 3600), int($second / 60) % 60, $second % 60, $method, $page, $status, 120 + pick(9000), $agents[pick(4)];
}

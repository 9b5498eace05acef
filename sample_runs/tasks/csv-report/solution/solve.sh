#!/bin/bash
set -euo pipefail
perl -ne '
    next if $. == 1;
    chomp;
    my @f;
    push @f, defined $1 ? $1 : $2 while /\G(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g and @f < 7;
    my ($id, undef, undef, $region, $quantity, $price, $status) = @f;
    next if $status eq "void" or $seen{$id}++;
    $orders{$region}++; $orders{TOTAL}++;
    $revenue{$region} += $quantity * $price; $revenue{TOTAL} += $quantity * $price;
    END {
        print "region,orders,revenue\n";
        for (sort { $revenue{$b} <=> $revenue{$a} } grep { $_ ne "TOTAL" } keys %orders) { line($_) }
        line("TOTAL");
    }
    sub line { printf "%s,%d,%.2f\n", $_[0], $orders{$_[0]}, $revenue{$_[0]} }
' /app/data/sales.csv >/app/report.csv
cat /app/report.csv

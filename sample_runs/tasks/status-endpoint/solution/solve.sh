#!/bin/bash
set -euo pipefail
cat >/tmp/repair.pl <<'END'
s/^while \(my \$client = \$server->accept\) \{$/\$SIG{PIPE} = 'IGNORE';\n\nwhile (1) {\n    my \$client = \$server->accept or next;/;
s/ = \$request =~ (m\{.*\}) or die .*;/ = (\$request \/\/ '') =~ $1 or do { close \$client; next };/;
s/^    my \@jobs/    my \$known = \$path eq '\/status';\n    my \@jobs/;
s/^    my \$body = sprintf (.*);/    my \$body = \$known ? sprintf($1) : "not found\\n";/;
s/length\(\$body\) - 2/length \$body/;
s/HTTP\/1.1 200 OK\\r\\nContent-Type: application\/json/HTTP\/1.1 " . (\$known ? '200 OK' : '404 Not Found') . "\\r\\nContent-Type: " . (\$known ? 'application\/json' : 'text\/plain') . "/;
END
perl -pi /tmp/repair.pl status.pl
perl -c status.pl
nohup setsid ./status.pl >/tmp/status.log 2>&1 </dev/null &
for _ in {1..30}; do
    if (: </dev/tcp/127.0.0.1/8080) 2>/dev/null; then exit 0; fi
    sleep 0.1
done
cat /tmp/status.log
exit 1

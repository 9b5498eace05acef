# A small test runner for Bash. Source it, call `check NAME COMMAND...` once per test, then `finish` or `finish_share`.
# A check passes when its command exits 0; what the command prints is the message that the report shows for it.
LC_ALL=C
checks_total=0 checks_passed=0 checks_rows=
checks_start=${EPOCHREALTIME%[.,]*}000

json_text() {
    local text=${1:0:600}
    text=${text//\\/\\\\} text=${text//\"/\\\"} text=${text//$'\n'/\\n} text=${text//$'\t'/\\t}
    text=${text//[![:print:]]/?}
    printf '"%s"' "$text"
}

check() {
    local name=$1 output status=failed began ended
    shift
    began=${EPOCHREALTIME/[.,]/}
    if output=$("$@" 2>&1); then status=passed; fi
    ended=${EPOCHREALTIME/[.,]/}
    checks_total=$((checks_total + 1))
    if [ "$status" = passed ]; then checks_passed=$((checks_passed + 1)); fi
    printf '%s  %s\n' "${status^^}" "$name"
    if [ "$status" = failed ] && [ -n "$output" ]; then printf '%s\n' "$output" | sed 's/^/        /'; fi
    checks_rows+=${checks_rows:+,}$(printf '{"name":%s,"status":"%s","duration":%d,"message":%s}' \
        "$(json_text "$name")" "$status" $(((ended - began) / 1000)) "$(json_text "$output")")
}

write_ctrf() {
    printf '{"reportFormat":"CTRF","specVersion":"0.0.0","results":{"tool":{"name":"checks.sh"},' >/logs/verifier/ctrf.json
    printf '"summary":{"tests":%d,"passed":%d,"failed":%d,"pending":0,"skipped":0,"other":0,"start":%s,"stop":%s},"tests":[%s]}}\n' \
        "$checks_total" "$checks_passed" $((checks_total - checks_passed)) \
        "$checks_start" "${EPOCHREALTIME%[.,]*}000" "$checks_rows" >>/logs/verifier/ctrf.json
    printf '%d of %d checks passed\n' "$checks_passed" "$checks_total"
}

# 1 if every check passed, else 0.
finish() {
    write_ctrf
    if [ "$checks_passed" -eq "$checks_total" ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
}

# The share of checks that passed, as a table; further `key=number` arguments are further rewards.
finish_share() {
    local share=$((checks_passed * 1000 / checks_total)) extra
    write_ctrf
    {
        printf '{"reward": %d.%03d' $((share / 1000)) $((share % 1000))
        for extra in "$@"; do printf ', "%s": %s' "${extra%%=*}" "${extra#*=}"; done
        printf '}\n'
    } >/logs/verifier/reward.json
}

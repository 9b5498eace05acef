#!/bin/bash
for number in {1..120}; do
    echo "line $number of 120"
    sleep 0.1
done

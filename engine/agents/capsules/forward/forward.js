// Passes bytes between a port of the loopback and a Unix socket: a program's way to its model out of its container.
//
// forward.js [--detach] SOCKET [PORT]   listens on 127.0.0.1:PORT (0, if not given: any that is free) and says where,
//                                       in one line of JSON: {"port": N, "pid": N, "no_proxy": WORDS}, the last from
//                                       the environment. With --detach it goes on behind.
// forward.js --stop PID                 ends one that goes on behind; it may be gone already.
//
// Runs in containers with nothing but Node 18 or later, so it uses Node's own modules alone.
"use strict";

const childProcess = require("child_process");
const fs = require("fs");
const net = require("net");

const STOP_MS = 5000;

function main(args) {
  if (args.length === 2 && args[0] === "--stop" && /^\d+$/.test(args[1])) return stop(Number(args[1]));
  const detached = args[0] === "--detach";
  const rest = detached ? args.slice(1) : args;
  if (rest.length < 1 || rest.length > 2 || rest[0].startsWith("-") || !/^\d*$/.test(rest[1] || "")) {
    process.stderr.write("usage: forward.js [--detach] SOCKET [PORT] | forward.js --stop PID\n");
    process.exitCode = 2;
    return;
  }
  if (detached) detach(rest);
  else serve(rest[0], Number(rest[1] || 0));
}

function say(words) {
  fs.writeSync(1, JSON.stringify(words) + "\n");
}

// Starts itself again, away from this terminal and this process's pipes, and passes on what it says first.
function detach(rest) {
  const child = childProcess.spawn(process.execPath, [__filename, ...rest], {
    cwd: "/",
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  child.stdout.on("data", (data) => {
    said += data;
    if (!said.includes("\n")) return;
    const words = JSON.parse(said);
    if (words.error) return fail(words.error);
    say(words);
    process.exit(0);
  });
  child.on("error", (error) => fail(error.message));
  child.on("close", (code) => fail(`it ended with code ${code} and said nothing`));
}

function fail(words) {
  fs.writeSync(2, `forward.js can't listen: ${words}\n`);
  process.exit(1);
}

function stop(pid) {
  const until = Date.now() + STOP_MS;
  const tell = (name) => {
    try {
      if (isOneOfOurs(pid)) process.kill(pid, name);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  };
  const look = () => {
    if (!isOneOfOurs(pid)) return;
    if (Date.now() > until) tell("SIGKILL");
    else setTimeout(look, 20);
  };
  tell("SIGTERM");
  look();
}

// Whether that process runs this file; its number may belong to another one by now.
function isOneOfOurs(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(__filename);
  } catch {
    return false;
  }
}

function serve(socket, port) {
  const server = net.createServer({ allowHalfOpen: true }, (near) => join(near, socket));
  server.on("error", (error) => {
    say({ error: error.message });
    process.exit(1);
  });
  const noProxy = process.env.NO_PROXY || process.env.no_proxy || "";
  server.listen({ host: "127.0.0.1", port, backlog: 256 }, () =>
    say({ port: server.address().port, pid: process.pid, no_proxy: noProxy }),
  );
}

// One connection. Each side's end is passed on by itself (`pipe` ends the other side); what breaks breaks both.
function join(near, socket) {
  const far = net.connect({ path: socket, allowHalfOpen: true });
  const broken = () => {
    if (typeof near.resetAndDestroy === "function") near.resetAndDestroy();
    else near.destroy();
    far.destroy();
  };
  near.on("error", broken);
  far.on("error", broken);
  near.setNoDelay(true);
  near.pipe(far);
  far.pipe(near);
}

main(process.argv.slice(2));

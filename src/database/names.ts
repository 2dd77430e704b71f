/** @module Looks up the names of databases: a thousand that do not resolve must not block each other. */
import { spawn } from "node:child_process";
import { type LookupAddress, lookup } from "node:dns";
import { type LookupFunction, Socket } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { orAborted } from "../model/once.ts";

/** Look-ups that run at once: those of names that do not resolve may take 10 s and more each. */
const atOnce = 8;

/** Time that an answer is kept, in ms: the next attempt sees a look-up that took longer than the previous one. */
const hold = 5000;

const shared = shareLookUps(lookUpElsewhere(atOnce, 10_000), () => performance.now(), atOnce, hold);

/** Looks up the name of a connection with those of all others; after the signal no caller waits for it. */
export function lookupWithin(signal: AbortSignal): LookupFunction {
  return (name, options, callback) => {
    // `localhost` needs no server and no child process.
    if (name === "localhost") return lookup(name, options, callback);
    shared(name, signal).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? "", first?.family ?? 4);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

export type Addresses = readonly LookupAddress[];

/** Asks the system for the addresses of one name, however long it takes. */
export type LookUp = (name: string) => Promise<Addresses>;

/** Rejects with the failure of the look-up, or with the reason of the signal as soon as it is aborted. */
export type SharedLookUp = (name: string, signal: AbortSignal) => Promise<Addresses>;

interface Asked {
  readonly answer: Promise<Addresses>;
  readonly settle: (answer: Promise<Addresses>) => void;
  waiting: number;
}

/**
 * Shares look-ups: a name is asked for once, however many wait for it, at most `atOnce` names are asked for together, and
 * an answer, a failure too, is kept for `hold` ms after it came. A look-up that has begun goes on if no caller waits any
 * more, so that a slow answer is there for the next caller; one that has not begun never begins.
 */
export function shareLookUps(lookUp: LookUp, now: () => number, atOnce: number, hold: number): SharedLookUp {
  const queued = new Map<string, Asked>();
  const running = new Map<string, Asked>();
  const answered = new Map<string, { readonly answer: Promise<Addresses>; readonly until: number }>();

  const begin = (): void => {
    for (const [name, asked] of queued) {
      if (running.size >= atOnce) return;
      queued.delete(name);
      running.set(name, asked);
      const answer = lookUp(name);
      asked.settle(answer);
      const end = (): void => {
        running.delete(name);
        forget();
        answered.set(name, { answer, until: now() + hold });
        begin();
      };
      answer.then(end, end);
    }
  };
  const forget = (): void => {
    for (const [name, { until }] of answered) if (until <= now()) answered.delete(name);
  };
  const ask = (name: string): Asked => {
    const known = running.get(name) ?? queued.get(name);
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<Addresses>();
    promise.catch(() => undefined);
    const asked: Asked = { answer: promise, settle: resolve, waiting: 0 };
    queued.set(name, asked);
    return asked;
  };

  return async (name, signal) => {
    signal.throwIfAborted();
    forget();
    const held = answered.get(name);
    if (held !== undefined) return held.answer;
    const asked = ask(name);
    asked.waiting += 1;
    begin();
    try {
      return await orAborted(asked.answer, signal);
    } finally {
      asked.waiting -= 1;
      if (asked.waiting === 0 && queued.get(name) === asked) queued.delete(name);
    }
  };
}

/** Reads names, a JSON text a line, and writes what each came to. Ends at once when its input ends, busy or not. */
const program = `
const { stdin, stdout } = process;
const end = () => process.kill(process.pid, "SIGKILL");
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
stdout.on("error", end);
require("node:readline").createInterface({ input: stdin }).on("close", end).on("line", (line) => {
  const name = JSON.parse(line);
  require("node:dns").lookup(name, { all: true }, (error, addresses = []) => {
    stdout.write(JSON.stringify({ name, addresses, code: error?.code }) + "\\n");
  });
});`;

/** Variables that the system's look-ups depend on; nothing else of the environment is handed over. */
const environment = ["HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS", "LD_LIBRARY_PATH", "SystemRoot"];

interface Answer {
  readonly name: string;
  readonly addresses: readonly LookupAddress[];
  readonly code?: string;
}

/**
 * Look-ups by a process that starts with the first one and ends once it was not asked for `idle` ms, or with this process;
 * it keeps nothing running. `threads` of them run at once, each name once. Rejects as `dns.lookup` does, with `EAI_AGAIN`
 * also if that process cannot run.
 */
export function lookUpElsewhere(threads: number, idle: number): LookUp {
  let ask: LookUp | undefined;
  return async (name) => {
    ask ??= startNameProcess(threads, idle, () => {
      ask = undefined;
    });
    return ask(name);
  };
}

function startNameProcess(threads: number, idle: number, onEnd: () => void): LookUp {
  const waiting = new Map<string, PromiseWithResolvers<Addresses>>();
  const kept = environment.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const child = spawn(process.execPath, ["--input-type=commonjs", "--eval", program], {
    env: { ...Object.fromEntries(kept), UV_THREADPOOL_SIZE: String(threads) },
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true,
  });
  const end = (): void => {
    onEnd();
    clearTimeout(rest);
    child.kill("SIGKILL");
    for (const [name, { reject }] of waiting) reject(failure(name, "EAI_AGAIN"));
    waiting.clear();
  };
  const rest = setTimeout(() => (waiting.size === 0 ? end() : rest.refresh()), idle).unref();
  child.on("error", end).on("exit", end);
  child.stdin.on("error", end);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { name, addresses, code }: Answer = JSON.parse(line);
    const asker = waiting.get(name);
    waiting.delete(name);
    if (code === undefined) asker?.resolve(addresses);
    else asker?.reject(failure(name, code));
  });
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) if (pipe instanceof Socket) pipe.unref();
  return (name) => {
    const asked = Promise.withResolvers<Addresses>();
    waiting.set(name, asked);
    rest.refresh();
    child.stdin.write(`${JSON.stringify(name)}\n`);
    return asked.promise;
  };
}

function failure(name: string, code: string): Error {
  return Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code, syscall: "getaddrinfo" });
}

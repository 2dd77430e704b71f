/** @module Gives commands access to the terminal of the process. */
import { appendFileSync, closeSync, openSync, readSync, statSync } from "node:fs";
import { Writable } from "node:stream";
import { fileTrouble } from "../../files/file-trouble.ts";
import { openForReader } from "../../files/write-result.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Settings } from "../../project/settings.ts";
import { wrapLines } from "../../report/typeset.ts";

/** Output of a command: results to standard output, progress and problems to standard error. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** True if a person can be asked on this terminal. */
  readonly interactive: boolean;
  readonly colour: boolean;
  readonly width: number;
  /** Columns of the terminal that standard output is; absent if it is a file or a pipe, so that no line is broken there. */
  readonly columns?: number;
  /** Appends a line to the file of --log; absent without that option. */
  readonly log?: (line: string) => void;
  /** Opens an area below everything printed; absent if progress is not drawn: no terminal, CI, TERM=dumb. One at a time. */
  readonly live?: () => Promise<LiveArea>;
  /** Asks a question; only "yes" means true. Throws `interrupted` (exit 130) at Ctrl-C and once the signal is aborted. */
  confirm(question: string, signal: AbortSignal): Promise<boolean>;
}

/** Options of a command line for its terminal: `color` is false with --no-color, `log` the file of --log. */
export interface TerminalOptions {
  readonly color?: boolean;
  readonly log?: string;
}

/** The terminal of the process. `NO_COLOR`, `CI` and --no-color turn colour off; without a TTY there are no prompts. */
export function processTerminal(settings: Settings, { color, log: logFile }: TerminalOptions): Terminal {
  const warn = (why: string): void => print(stderr, `warning: the log ${logFile} ends here: ${why}\n`);
  const log = logFile === undefined ? undefined : openLog(logFile, warn);
  const { stdin, stdout, stderr } = process;
  let area: LiveArea | undefined;
  const isPipeline = settings.get("CI") !== undefined;
  const isPlain = isPipeline || settings.get("TERM") === "dumb";
  const live = async (): Promise<LiveArea> => {
    area = await openLiveArea(stderr);
    return area;
  };
  const print = (stream: NodeJS.WriteStream, text: string): void => {
    if (area === undefined) stream.write(text);
    else area.print(text, stream);
  };
  return {
    out: (text) => print(stdout, text),
    // Standard error is prose: no word is cut at the edge of a terminal.
    err: (text) => print(stderr, wrapLines(text, columnsOf(stderr))),
    ...(stderr.isTTY === true && !isPlain ? { live } : {}),
    interactive: stdin.isTTY === true && stdout.isTTY === true && !isPipeline,
    colour: stdout.isTTY === true && !isPlain && color !== false && settings.get("NO_COLOR") === undefined,
    // A pager or `tee` prints to the terminal that standard error still is.
    width: columnsOf(stdout) ?? columnsOf(stderr) ?? 100,
    ...defined({ columns: columnsOf(stdout), log }),
    async confirm(question, signal) {
      area?.clear();
      const { createInterface } = await import("node:readline/promises");
      const reader = createInterface({ input: stdin, output: stderr });
      const key = new AbortController();
      reader.once("SIGINT", () => key.abort());
      const interrupted = AbortSignal.any([key.signal, signal]);
      try {
        const answer = await reader.question(question, { signal: interrupted });
        return answer.trim() === "yes";
      } catch {
        stderr.write("\n");
        if (!interrupted.aborted) return false;
        throw new GraphformError("interrupted", "interrupted: nothing was changed", {
          exitCode: exitCodes.interrupted,
        });
      } finally {
        reader.close();
      }
    },
  };
}

/** Lets a run outlive a full disk, or a reader that goes away (`graphform plan | head`). The result is false if the disk took not all. */
export function guardOutputs(): () => boolean {
  const { stdout, stderr } = process;
  let isCut = false;
  stderr.on("error", () => undefined);
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isCut || error.code === "EPIPE" || error.code === "EIO") return;
    isCut = true;
    process.exitCode = exitCodes.error;
    stderr.write(`error: standard output is not complete: ${fileTrouble(error)}\n`);
  });
  return () => !isCut;
}

/** Waits until the log has a reader, if it is a named pipe, and says so. */
export async function untilLogIsRead(file: string): Promise<void> {
  await openForReader(file, { waiting: () => process.stderr.write(`waiting for a reader of ${file}\n`) });
}

function columnsOf({ columns }: NodeJS.WriteStream): number | undefined {
  return columns > 0 ? columns : undefined;
}

/** Opens a log, mode 0600, for appending lines. The first failure calls `end`: a run outlives its log. Throws `log-unwritable`. */
function openLog(file: string, end: (why: string) => void): (line: string) => void {
  let descriptor: number | undefined;
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === true && isOurDocument(file))
      throw new Error("it is a manifest, a state or a plan");
    descriptor = openSync(file, "a", 0o600);
  } catch (cause) {
    const message = `the log ${file} cannot be written: ${fileTrouble(cause)}`;
    throw new GraphformError("log-unwritable", message, { hint: "name another file with --log", cause });
  }
  return (line) => {
    if (descriptor === undefined) return;
    try {
      appendFileSync(descriptor, `${line}\n`);
    } catch (cause) {
      descriptor = undefined;
      end(fileTrouble(cause));
    }
  };
}

/** True for a manifest, a state or a plan file: lines at its end would break it. The lines of a log begin with a key of their own. */
function isOurDocument(file: string): boolean {
  const [descriptor, head] = [openSync(file, "r"), Buffer.alloc(4096)];
  const text = head.toString("utf8", 0, readSync(descriptor, head)).trimStart();
  closeSync(descriptor);
  return (text.startsWith("{") && !text.startsWith('{"@')) || /^apiVersion:/m.test(text);
}

interface LiveStream {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

/** Lines at the end of a terminal. The first `draw` shows them. */
export interface LiveArea {
  size(): { readonly width: number; readonly height: number };
  draw(lines: readonly string[]): void;
  /** Removes what is drawn, and shows the cursor again. */
  clear(): void;
  /** Prints text above what is drawn. `stream` is that of the text: another one than that of the area may show on the same terminal. */
  print(text: string, stream: { write(text: string): unknown }): void;
}

/** Marks of one frame: a terminal that knows them shows all of it at once. */
const frame = { begin: "\u001b[?2026h", end: "\u001b[?2026l" };

/** Opens an area at the end of a stream. The library is loaded only here. */
export async function openLiveArea(stream: LiveStream): Promise<LiveArea> {
  const { createLogUpdate } = await import("log-update");
  let pending = "";
  const collector = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      pending += String(chunk);
      done();
    },
  });
  const size = () => ({
    width: stream.columns > 0 ? stream.columns : 80,
    height: stream.rows > 0 ? stream.rows : 24,
  });
  Object.defineProperties(collector, {
    columns: { get: () => size().width },
    rows: { get: () => size().height },
  });
  const update = createLogUpdate(collector);
  let drawn: string | undefined;
  const flush = (): void => {
    if (pending !== "") stream.write(`${frame.begin}${pending}${frame.end}`);
    pending = "";
  };
  return {
    size,
    draw(lines) {
      drawn = lines.join("\n");
      update(drawn);
      flush();
    },
    clear() {
      if (drawn === undefined) return;
      drawn = undefined;
      update.clear();
      update.done();
      flush();
    },
    print(text, target) {
      if (drawn === undefined) return void target.write(text);
      const whole = text.endsWith("\n") ? text : `${text}\n`;
      update.clear();
      if (target === stream) pending += whole;
      else {
        flush();
        target.write(whole);
      }
      update(drawn);
      flush();
    },
  };
}

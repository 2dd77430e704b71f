/** @module Draws a few lines below everything that is printed, and replaces them in place. */
import { Writable } from "node:stream";

/** The part of a terminal's stream that drawing needs. */
export interface LiveStream {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

/** Lines at the end of a terminal. Nothing is drawn before the first `draw`. */
export interface LiveArea {
  /** Columns and rows of the terminal now. */
  size(): { readonly width: number; readonly height: number };
  /** Replaces what is drawn. */
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
      if (drawn === undefined) {
        target.write(text);
        return;
      }
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

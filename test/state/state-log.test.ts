import { describe, expect, it } from "vitest";
import { isGraphformError } from "../../src/model/errors.ts";
import { stateFormatter } from "../../src/state/document.ts";
import { readState } from "../../src/state/read-state.ts";
import { eventsLine, headLine, readLog } from "../../src/state/state-log.ts";
import type { EventVersion } from "../../src/state/store.ts";
import { sampleBound, sampleState } from "./samples.ts";

const state = sampleState();
const document = stateFormatter()({ ...state, version: 3 });

function bound(serial: number): EventVersion {
  const [lineage, savedAt] = [state.lineage, `2026-01-01T00:00:0${serial}.000Z`];
  const event = {
    type: "bound",
    address: `instances.v${serial}`,
    bound: sampleBound(`i-${serial} ü`),
  } as const;
  return { lineage, serial, savedAt, event };
}

const head = headLine(state);
const [first, second] = [eventsLine([bound(2)]), eventsLine([bound(3), bound(4)])];
const whole = head + first + second;

function codeOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (!isGraphformError(error)) throw error;
    expect(error.hint).not.toBe("");
    return error.code;
  }
  return "read";
}

function read(log: string | undefined, text = document): number {
  return readState(text, "shop.state.json", "shop", log).serial;
}

describe("a state of version 3", () => {
  it("is its document and everything in its log", () => {
    const found = readState(document, "shop.state.json", "shop", whole);
    expect(found).toMatchObject({ version: 2, serial: 4, savedAt: bound(4).savedAt });
    expect(Object.keys(found.resources)).toHaveLength(5);
  });

  it("is read up to the moment that was cut, wherever it was", () => {
    for (let end = head.length + first.length; end < whole.length - 1; end += 1)
      expect(read(whole.slice(0, end))).toBe(2);
    expect(read(whole.slice(0, -1))).toBe(4);
    const begun = head.length + first.length;
    expect(read(`${whole.slice(0, begun)}${"\0".repeat(4096)}`)).toBe(2);
    expect(read(`${whole.slice(0, begun)}${"\0".repeat(20)}${second.slice(20)}`)).toBe(2);
  });

  it("is refused, and never shortened, where anything before its last line is damaged", () => {
    for (let at = 0; at < head.length + first.length; at += 1) {
      for (const wrong of ["", "x", "\0"]) {
        const log = whole.slice(0, at) + wrong + whole.slice(at + 1);
        if (log !== whole)
          expect(
            codeOf(() => read(log)),
            `${at} ${wrong}`,
          ).toBe("state-log-damaged");
      }
    }
  });

  it.each([
    ["a line that is whole and not as it was written", whole.replace("i-4", "i-5"), "state-log-damaged"],
    ["a line that is missing", head + second, "state-log-damaged"],
    ["a line that stands there twice", head + first + first, "state-log-damaged"],
    [
      "an event that does not fit",
      `${head}${eventsLine([{ ...bound(2), event: { type: "released", address: "instances.none" } }])}`,
      "state-log-damaged",
    ],
    [
      "an event of a newer version, which nobody may take away",
      head + eventsLine([{ ...bound(2), event: JSON.parse('{ "type": "of-tomorrow" }') }]),
      "state-newer",
    ],
    ["an empty log", "", "state-log-damaged"],
    ["no log", undefined, "state-log-gone"],
    ["the log of another state", headLine({ ...state, lineage: "other" }) + first, "state-log-stray"],
    ["the log of another version", headLine({ ...state, serial: 2 }), "state-log-stray"],
    [
      "the log of another copy",
      headLine({ ...state, savedAt: "2026-01-01T00:00:09.000Z" }),
      "state-log-stray",
    ],
  ])("is refused with %s", (_, log, code) => {
    expect(codeOf(() => read(log))).toBe(code);
  });

  it("is refused where an event binds an address that is none", () => {
    const event = { type: "bound", address: "../x", bound: sampleBound("i") } as const;
    expect(codeOf(() => read(head + eventsLine([{ ...bound(2), event }])))).toBe("state-foreign");
  });
});

describe("a state of version 2", () => {
  it.each([["none"], [whole], ["anything"]])("is whole, whatever log lies beside it: %s", (log) => {
    expect(read(log, stateFormatter()(state))).toBe(1);
  });
});

describe("the line of a moment", () => {
  it("holds all of its events, or none is read", () => {
    expect(readLog(whole, "f").events).toEqual([bound(2), bound(3), bound(4)]);
  });
});

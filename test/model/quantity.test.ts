import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration, parseSize, parseTime } from "../../src/model/quantity.ts";

const KiB = 1024;

describe("a duration", () => {
  it.each([
    ["500ms", 500],
    ["90s", 90_000],
    ["40m", 2_400_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["0s", 0],
  ])("%s is %i ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(["", "90", "s", "1.5h", "-1s", " 1s", "1 s", "1S", "1w", "1234567890s", "1s1s"])(
    "%j is none",
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it.each([
    [0, "0 s"],
    [4000, "4 s"],
    [59_499, "59 s"],
    [59_600, "1 min"],
    [200_000, "3 min 20 s"],
    [3_600_000, "1 h"],
    [7_500_000, "2 h 5 min"],
  ])("%i ms is told as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe("a size", () => {
  it.each([
    ["6GB", 6 * KiB ** 3],
    ["6Gi", 6 * KiB ** 3],
    ["6GiB", 6 * KiB ** 3],
    ["6G", 6e9],
    ["6gb", 6 * KiB ** 3],
    ["1.5 GB", 1.5 * KiB ** 3],
    ["1024", 1024],
    ["1024B", 1024],
    ["2TB", 2 * KiB ** 4],
    ["10K", 10_000],
    [" 1MB ", KiB ** 2],
  ])("%j is %i bytes", (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(["", "GB", "6 G B", "six GB", "-6GB", "6XB", "6iB", "6i", ".5GB", "6GBs"])("%j is none", (text) => {
    expect(parseSize(text)).toBeUndefined();
  });
});

describe("parseTime", () => {
  it.each([
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00Z", "2026-01-31T12:00:00.000Z"],
    ["2024-02-29T00:30:00+01:00", "2024-02-28T23:30:00.000Z"],
    ["2026-02-30T00:00:00Z", undefined],
    ["2026-13-01T00:00:00Z", undefined],
    ["2026-01-31T24:30:00Z", undefined],
    ["2026-01-31T12:00:00", undefined],
    ["yesterday", undefined],
  ])("reads %s as %s", (text, expected) => {
    const time = parseTime(text);
    expect(time === undefined ? undefined : new Date(time).toISOString()).toBe(expected);
  });
});

import { expect, it, vi } from "vitest";
import { serviceTime } from "../../src/model/clock.ts";

it.each<[string | undefined, string | undefined]>([
  ["2026-01-01T12:00:00Z", "2026-01-01T12:00:00.000Z"],
  ["2026-01-01T21:00:00+09:00", "2026-01-01T12:00:00.000Z"],
  ["2026-01-01T12:00:00", "2026-01-01T12:00:00.000Z"],
  ["2026-01-01 12:00:00.5", "2026-01-01T12:00:00.500Z"],
  ["2026-01-01T12:00", "2026-01-01T12:00:00.000Z"],
  ["0001-01-01T00:00:00Z", undefined],
  ["1970-01-01T00:00:00Z", undefined],
  ["yesterday", undefined],
  ["", undefined],
  [undefined, undefined],
])("%s is %s, wherever this machine stands", (text, expected) => {
  vi.stubEnv("TZ", "Asia/Tokyo");
  const time = serviceTime(text);
  vi.unstubAllEnvs();
  expect(time === undefined ? undefined : new Date(time).toISOString()).toBe(expected);
});

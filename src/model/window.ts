/** @module Decides whether a time lies in a declared window. */

const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** True if a time lies in one of the windows, each like `sat,sun 02:00-04:00` in UTC. One that ends before it begins ends on the next day. */
export function isInWindow(windows: readonly string[], now: number): boolean {
  return windows.some((text) => {
    const [, named, from = "", to = ""] = /^(?:(\S+) )?(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? [];
    const date = new Date(now);
    const minute = date.getUTCHours() * 60 + date.getUTCMinutes();
    const [begin, end] = [minutesOf(from), minutesOf(to)];
    const isOn = (day: number): boolean => named?.split(",").includes(days[(day + 7) % 7] ?? "") !== false;
    const today = date.getUTCDay();
    if (begin < end) return isOn(today) && minute >= begin && minute < end;
    return (isOn(today) && minute >= begin) || (isOn(today - 1) && minute < end);
  });
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return hours * 60 + minutes;
}

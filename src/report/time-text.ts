/** @module Formats points in time for people. */

/** `2026-03-02 08:30 UTC`, or the text where it is no time of this form. Not escaped. */
export function timeText(iso: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*Z$/.exec(iso);
  return match === null ? iso : `${match[1]} ${match[2]} UTC`;
}

/** One time, or the two between which several lie. */
export function sinceText([earliest, latest]: readonly [string, string]): string {
  const [from, to] = [timeText(earliest), timeText(latest)];
  return from === to ? from : `${from} to ${to}`;
}

/** @module Formats counts and durations for people. */

/** A count with its noun: `1 restart`, `2 restarts`, `no restarts`. */
export function amount(count: number, noun: string, many = `${noun}s`): string {
  return `${count === 0 ? "no" : count} ${count === 1 ? noun : many}`;
}

/** Formats an estimated duration in seconds: `about 12 minutes`. */
export function aboutTime(seconds: number): string {
  if (seconds < 5) return "a few seconds";
  if (seconds < 55) return `about ${Math.ceil(seconds / 5) * 5} seconds`;
  if (seconds < 90) return "about a minute";
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${minutes} minutes`;
  const halves = Math.round(seconds / 1800);
  const hours = Math.floor(halves / 2);
  return halves % 2 === 0 ? `about ${hours} hours` : `about ${hours}½ hours`;
}

/** Formats elapsed ms in short form: `10s`, `3m20s`, `1h05m`. */
export function elapsedTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, "0")}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, "0")}m`;
}

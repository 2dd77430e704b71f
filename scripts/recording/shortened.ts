import type { Frame } from "./screen.ts";

/** Nothing stands still for longer than this, and nothing flickers faster. Milliseconds. */
const longest = 1800;
const shortest = 40;

/**
 * The same frames within about `length` ms: frames that nobody could see are dropped, waits are cut, and the rest is
 * played faster or slower alike.
 */
export function shortened(frames: readonly Frame[], length: number): readonly Frame[] {
  const seen = frames
    .filter((frame, index) => {
      const next = frames[index + 1];
      return next === undefined || next.at - frame.at >= shortest / 2;
    })
    .filter((frame, index, all) => index === 0 || !isAlike(frame, all[index - 1]));
  const gaps = seen.map((frame, index) =>
    index === 0 ? 0 : Math.min(longest, Math.max(shortest, frame.at - (seen[index - 1]?.at ?? 0))),
  );
  const total = gaps.reduce((sum, gap) => sum + gap, 0);
  const scale = Math.min(1, length / total);
  let at = 0;
  return seen.map((frame, index) => {
    at += (gaps[index] ?? 0) * scale;
    return { ...frame, at };
  });
}

/** True where both show the same; numbers that count seconds do not matter. */
function isAlike(one: Frame, other: Frame | undefined): boolean {
  const text = (frame: Frame | undefined): string => JSON.stringify(frame?.lines).replace(/\d+ ?s\b/g, "");
  return text(one) === text(other);
}

/** The local platform: the hosting service of the specification on one machine. A program of its own. */
export { PlatformRunningError } from "./lock.ts";
export type { PlatformOptions } from "./options.ts";
export { type RunningPlatform, startPlatform } from "./start.ts";

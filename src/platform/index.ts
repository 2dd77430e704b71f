/** @module Exports the local platform, the hosting service on one machine, to the rest of the program. */
export { PlatformRunningError } from "./lock.ts";
export type { PlatformOptions } from "./options.ts";
export { type RunningPlatform, startPlatform } from "./start.ts";

/** The local platform: the hosting service of the specification on one machine. A program of its own. */
export type { EngineInfo } from "./databases.ts";
export type { Fault, FaultRule } from "./fault-rule.ts";
export { parseFaultRules } from "./fault-rule.ts";
export { PlatformRunningError } from "./lock.ts";
export type { NetworkSeed, PlatformOptions } from "./options.ts";
export { type RunningPlatform, startPlatform } from "./start.ts";

/** @module Exports the engine to the rest of the platform. */
export { isReserved, splitRules, tenantRules } from "./acl.ts";
export type { Database, DatabaseSpec, Engine, StartOptions, TlsFiles } from "./database.ts";
export { EngineError } from "./engine-error.ts";
export { findEngine } from "./find-engine.ts";
export { copyWhole } from "./prepare-data.ts";
export { setupEngine } from "./setup-engine.ts";
export { ensureAuthority } from "./tls.ts";

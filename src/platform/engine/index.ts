/** @module Exports the engine to the rest of the platform. */
export { isReserved, splitRules, tenantRules } from "./acl.ts";
export type { Database, DatabaseNode, DatabaseSpec, Engine, StartOptions, TlsFiles } from "./database.ts";
export { EngineError } from "./engine-error.ts";
export { copyWhole } from "./prepare-data.ts";
export { findEngine } from "./setup/find-engine.ts";
export { setupEngine } from "./setup/setup-engine.ts";
export { ensureAuthority } from "./tls.ts";

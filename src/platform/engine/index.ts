export type { Database, DatabaseNode, DatabaseSpec, DatabaseUser, Engine, TlsFiles } from "./database.ts";
export { EngineError } from "./engine-error.ts";
export { type EngineOptions, type EngineSearch, findEngine } from "./find-engine.ts";
export { setupEngine } from "./setup-engine.ts";
export { ensureAuthority } from "./tls.ts";

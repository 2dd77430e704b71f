import process from "node:process";
import "./emit.ts";
import "./emit-profiles.ts";
import "./emit-state.ts";

/**
 * Writes everything that is derived from the tables: compiled validators, profiles, schemas, pages. `--generated` writes
 * only what is not committed, as every build does, so that a stale page is found and not mended behind its author's back.
 */
if (!process.argv.includes("--generated")) {
  await import("./emit-schemas.ts");
  await import("./emit-docs.ts");
}

/** @module Stores the sessions of `login` in files of the user. */
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { writeAtomically } from "../files/atomic-write.ts";
import type { SessionStore } from "../hosting/session/session.ts";
import type { Tokens } from "../hosting/session/tokens.ts";
import { isObject, objectIn } from "../model/json.ts";
import type { Settings } from "./settings.ts";

/**
 * A store with one file per service in the state folder of the user (`XDG_STATE_HOME`). The folder has mode 0700, the files
 * 0600. A file that cannot be read counts as no session.
 */
export function sessionFiles(settings: Settings): SessionStore {
  const folder = join(
    settings.get("stateHome") ?? join(homedir(), ".local", "state"),
    "graphform",
    "sessions",
  );
  const fileOf = (origin: string): string =>
    join(folder, `${createHash("sha256").update(origin).digest("hex").slice(0, 32)}.json`);
  return {
    async load(origin) {
      const stored = objectIn(await readFile(fileOf(origin), "utf8").catch(() => ""));
      return stored?.["origin"] === origin ? tokensOf(stored["tokens"]) : undefined;
    },
    async save(origin, tokens) {
      if (tokens === undefined) return rm(fileOf(origin), { force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
      await writeAtomically(fileOf(origin), `${JSON.stringify({ origin, tokens })}\n`);
    },
  };
}

function tokensOf(value: unknown): Tokens | undefined {
  if (!isObject(value)) return undefined;
  const { token, refreshToken, renewAt, endsAt, refreshUntil } = value;
  if (typeof token !== "string" || typeof renewAt !== "number" || typeof refreshUntil !== "number")
    return undefined;
  return {
    token,
    renewAt,
    refreshUntil,
    ...(typeof endsAt === "number" ? { endsAt } : {}),
    ...(typeof refreshToken === "string" ? { refreshToken } : {}),
  };
}

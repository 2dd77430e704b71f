/** @module Keeps the platform's credentials and signing key in its data folder. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../files/atomic-write.ts";

/** The credentials of the platform's only user. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Creates a folder with mode 0700 where it does not exist. */
export async function privateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Reads `<dataDir>/credentials.json` (0600), generated at the first start. Throws where the file is damaged. */
export async function loadCredentials(dataDir: string): Promise<Credentials> {
  const path = join(dataDir, "credentials.json");
  const known = parseCredentials(await readIfThere(path), path);
  if (known !== undefined) return known;
  const fresh = { username: "local@graphform.invalid", password: randomBytes(24).toString("base64url") };
  await writeAtomically(path, `${JSON.stringify(fresh, null, 2)}\n`);
  return fresh;
}

/** Reads `<dataDir>/signing.key` (0600), so that sessions survive a restart; generated at the first start. */
export async function loadSigningKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, "signing.key");
  const known = await readIfThere(path);
  if (known !== undefined && known.trim().length >= 43) return Buffer.from(known.trim(), "base64url");
  const key = randomBytes(32);
  await writeAtomically(path, key.toString("base64url"));
  return key;
}

function parseCredentials(text: string | undefined, path: string): Credentials | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "username" in value && "password" in value) {
      const { username, password } = value;
      if (typeof username === "string" && typeof password === "string") return { username, password };
    }
  } catch {
    // A file that is not JSON is reported below, like one without the two fields.
  }
  throw new Error(`${path} contains no username and password; delete it to generate new ones`);
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

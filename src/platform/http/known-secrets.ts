/** @module Redacts secrets in everything that the request log shows. */
import { isObject, type Json } from "../../model/json.ts";

/** The secret values that the platform knows. */
export interface KnownSecrets {
  add(value: string): void;
  /** True for a text that is itself a secret or a session token. */
  has(text: string): boolean;
  /** The text with every secret replaced by `[redacted]`. */
  redact(text: string): string;
}

/** Shorter values would match by chance. */
const shortest = 6;

/** Matches candidates for session tokens (JWT). Matches do not overlap, so that the time is linear. */
const tokenCandidate = /[A-Za-z0-9_.-]+/g;

/** The text without session tokens: three parts between dots, the first of which begins with `eyJ`, base64 of `{"`. */
function withoutTokens(text: string): string {
  if (!text.includes("eyJ")) return text;
  return text.replace(tokenCandidate, (word) => {
    const parts = word.split(".");
    const at = parts.findIndex(
      (part, index) =>
        part.length - part.indexOf("eyJ") >= 11 &&
        part.includes("eyJ") &&
        (parts[index + 1]?.length ?? 0) >= 8 &&
        (parts[index + 2]?.length ?? 0) >= 16,
    );
    const part = parts[at];
    if (part === undefined) return word;
    const before = [...parts.slice(0, at), part.slice(0, part.indexOf("eyJ"))].join(".");
    return [`${before}[redacted]`, ...parts.slice(at + 3)].join(".");
  });
}

export function createKnownSecrets(): KnownSecrets {
  const values = new Set<string>();
  return {
    add(value) {
      if (value.length >= shortest) values.add(value);
    },
    has: (text) => values.has(text) || withoutTokens(text) !== text,
    redact(text) {
      let clean = withoutTokens(text);
      for (const value of values) if (clean.includes(value)) clean = clean.replaceAll(value, "[redacted]");
      return clean;
    },
  };
}

const secretKey = /pass|secret|token|credential|authorization/i;

/** Strings under keys that are meant for secrets, such as `password`. */
export function secretsIn(body: Json): readonly string[] {
  if (Array.isArray(body)) return body.flatMap(secretsIn);
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([key, value]) =>
    secretKey.test(key) && typeof value === "string" ? [value] : secretsIn(value),
  );
}

/** An ACL without passwords and hashes, which follow `<`, `>`, `#` or `!`. The users host refuses them, but clients may send them. */
function withoutPasswords(acl: string): string {
  return acl.replaceAll(/([<>#!])[^\s']+/g, "$1[redacted]");
}

/** A body without secrets for the log, and the paths of secrets under keys that are not meant for them. */
export function redactBody(
  body: Json,
  secrets: KnownSecrets,
): { readonly body: Json; readonly misplaced: readonly string[] } {
  const misplaced: string[] = [];
  const clean = (value: Json, path: string): Json => {
    if (typeof value === "string") {
      const redacted = secrets.redact(value);
      if (redacted !== value) misplaced.push(path);
      return redacted;
    }
    if (Array.isArray(value)) return value.map((entry: Json, index) => clean(entry, `${path}[${index}]`));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, entry]): [string, Json] => {
      const at = path === "" ? key : `${path}.${key}`;
      if (secretKey.test(key)) return [key, "[redacted]"];
      return [key, clean(key === "acl" && typeof entry === "string" ? withoutPasswords(entry) : entry, at)];
    });
    return Object.fromEntries(entries);
  };
  return { body: clean(body, ""), misplaced };
}

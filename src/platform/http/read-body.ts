/** @module Reads request bodies within size and memory limits, as JSON of limited depth. */
import type { Json } from "../../model/json.ts";
import { ServiceError } from "../model/service-error.ts";

/** The body of one request. */
export interface BodyReader {
  /** Reads the text. Throws ServiceError 413 above the maximum size, 503 where the memory budget is used up; the rest is not read then. */
  read(): Promise<string>;
  /** Releases its memory budget; the text must not be used afterwards. */
  release(): void;
}

/** Opens a body of at most `largest` bytes. Reads and reserves nothing before `read`. */
export function openBody(request: Request, largest: number, budget: BodyBudget): BodyReader {
  let taken = 0;
  const take = (bytes: number): void => {
    if (taken + bytes > largest) throw new ServiceError(413, `the body is larger than ${sizeText(largest)}`);
    if (!budget.reserve(bytes)) throw new ServiceError(503, "too many large requests at once", 1);
    taken += bytes;
  };
  return {
    async read() {
      const announced = request.headers.get("content-length");
      if (announced !== null) take(Number(announced));
      if (announced !== null) return whole(request.text());
      if (request.headers.get("transfer-encoding") === null) return "";
      return whole(collect(request.body, take));
    },
    release() {
      budget.release(taken);
      taken = 0;
    },
  };
}

async function collect(body: Request["body"], take: (bytes: number) => void): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) {
    take(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** An aborted request is the client's error, not the platform's. */
async function whole(text: Promise<string>): Promise<string> {
  return text.catch((error: unknown) => {
    throw error instanceof ServiceError
      ? error
      : new ServiceError(400, "the body ends before its announced end");
  });
}

function sizeText(bytes: number): string {
  return bytes >= 1024 ** 2 ? `${bytes / 1024 ** 2} MiB` : `${bytes / 1024} KiB`;
}

/** A number of bytes shared by all requests. */
export interface BodyBudget {
  /** Reserves bytes; false where too few are left. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

/** A budget of `size` bytes. */
export function createBodyBudget(size: number): BodyBudget {
  let left = size;
  return {
    reserve(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    release(bytes) {
      left += bytes;
    },
  };
}

/** Maximum nesting of lists and objects; real requests are far below. */
const deepest = 64;

/**
 * The parsed body; undefined for an empty one. Throws ServiceError 400 for malformed or too deeply nested JSON, 415 for another
 * media type.
 */
export function parseJson(text: string, contentType: string | undefined): Json | undefined {
  if (text === "") return undefined;
  if (!/^application\/([a-z0-9.-]+\+)?json\b/i.test(contentType ?? "application/json")) {
    throw new ServiceError(415, "the body must be application/json");
  }
  const value = parsed(text);
  if (isDeeper(value, deepest))
    throw new ServiceError(400, `the body is nested deeper than ${deepest} levels`);
  return value;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError(400, "the body is not valid JSON");
  }
}

/** Checks level by level: recursion would overflow the stack on deep values. */
function isDeeper(value: Json, levels: number): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}

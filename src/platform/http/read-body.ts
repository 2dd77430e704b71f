/** @module Reads request bodies within size and memory limits. */
import { ServiceError } from "../model/service-error.ts";
import type { BodyBudget } from "./body-budget.ts";

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

import { ServiceError } from "../model/service-error.ts";
import type { BodyBudget } from "./body-budget.ts";

/** The body of one request, in the room that it takes. */
export interface BodyReader {
  /** Its text; ServiceError 413 where it is larger than allowed, 503 where there is no room. The rest is not read then. */
  read(): Promise<string>;
  /** Gives the room back; the text is used no more. */
  release(): void;
}

/** Opens the body of a request: at most so many bytes, from this room. Nothing is read or taken before `read`. */
export function openBody(request: Request, largest: number, room: BodyBudget): BodyReader {
  let taken = 0;
  const take = (bytes: number): void => {
    if (taken + bytes > largest) throw new ServiceError(413, `the body is larger than ${sizeText(largest)}`);
    if (!room.take(bytes)) throw new ServiceError(503, "too many large requests at once", 1);
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
      room.give(taken);
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

/** A client that hangs up in the middle is no failure of ours. */
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

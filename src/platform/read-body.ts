import { largestBody } from "./contract.ts";

/** The text of a request's body; undefined when it is above 1 MiB, in which case the rest is not read. */
export async function readBody(request: Request): Promise<string | undefined> {
  const announced = request.headers.get("content-length");
  if (announced !== null && Number(announced) > largestBody) return undefined;
  if (announced !== null) return request.text();
  if (request.headers.get("transfer-encoding") === null) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > largestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

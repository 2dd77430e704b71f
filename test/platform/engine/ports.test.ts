import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { claimPort } from "../../../src/platform/engine/bring-up-node.ts";

describe("a port that is claimed", () => {
  it("is nobody else's until it is released", async () => {
    const claims = await Promise.all(Array.from({ length: 50 }, () => claimPort()));
    expect(new Set(claims.map(({ port }) => port)).size).toBe(50);
    const [first] = claims;
    const other = await claimPort(first?.port);
    expect(other.port).not.toBe(first?.port);
    first?.release();
    expect((await claimPort(first?.port)).port).toBe(first?.port);
  });

  it("is another one where somebody listens on the wanted one", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const taken = typeof address === "object" ? address?.port : undefined;
    expect((await claimPort(taken)).port).not.toBe(taken);
    server.close();
  });
});

import type http from "node:http";
import { describe, expect, test, vi } from "vitest";
import { authorization, expectHarmless, list, start, withOAuth } from "./resource-server.ts";

withOAuth();

describe("the keys", () => {
  test("are fetched once for many requests", async () => {
    const server = await start();
    const headers = await authorization.bearer();
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.post(list, headers)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(authorization.keyRequests).toBe(1);
  });

  test("may rotate: a new one is found, an old one is good until it is gone from the cache", async () => {
    const server = await start();
    const old = await authorization.bearer();
    expect((await server.post(list, old)).status).toBe(200);
    await authorization.addKey("second", "ES256");
    authorization.removeKey("first");
    const renewed = await authorization.bearer();
    await vi.waitFor(async () => expect((await server.post(list, renewed)).status).toBe(200), {
      timeout: 20_000,
      interval: 200,
    });
    expect((await server.post(list, old)).status).toBe(401);
  });

  test("a flood of unknown ones does not become a flood of requests for keys", async () => {
    const server = await start();
    await server.post(list, await authorization.bearer());
    for (let number = 0; number < 50; number++) {
      const forged = await authorization.bearer({}, { kid: `unknown-${number}` });
      expect((await server.post(list, forged)).status).toBe(401);
    }
    // One at first, and one for each time that the flood outlasts the cooldown.
    expect(authorization.keyRequests).toBeLessThanOrEqual(3);
  });

  test("cannot be fetched at start: 503 until they can", async () => {
    await authorization.down();
    const server = await start();
    const headers = await authorization.bearer();
    const answer = await server.post(list, headers);
    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toBe("5");
    expect(answer.headers["www-authenticate"]).toBeUndefined();
    expect(answer.message).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32000, message: "Access tokens cannot be verified now; try again" },
    });
    expectHarmless(server, answer, headers.authorization);
    expect(await server.logged({ message: "access token not verified" })).toMatchObject({ level: "error" });
    await authorization.up();
    expect((await server.post(list, headers)).status).toBe(200);
  });

  test("cannot be fetched later: known ones are good, a token with a new one is 503", async () => {
    const server = await start();
    const known = await authorization.bearer();
    expect((await server.post(list, known)).status).toBe(200);
    await authorization.down();
    const unknown = await authorization.bearer({}, { kid: "second" });
    await vi.waitFor(async () => expect((await server.post(list, unknown)).status).toBe(503), {
      timeout: 20_000,
      interval: 200,
    });
    expect((await server.post(list, known)).status).toBe(200);
    expect((await server.request({ path: "/livez", method: "GET" })).status).toBe(200);
  });

  test.each([
    ["an error", (res: http.ServerResponse) => void res.writeHead(500).end("down")],
    ["a redirect", (res: http.ServerResponse) => void res.writeHead(302, { location: "/other" }).end()],
    ["a page", (res: http.ServerResponse) => void res.end("<html></html>")],
    ["something else", (res: http.ServerResponse) => void res.end('{"keys":1}')],
    ["half an answer", (res: http.ServerResponse) => void res.write("{", () => res.destroy())],
    [
      "a key that is none",
      (res: http.ServerResponse) => void res.end('{"keys":[{"kty":"RSA","kid":"first","alg":"RS256"}]}'),
    ],
  ])("answered with %s are 503, never 500", async (_, answerKeys) => {
    authorization.answerKeys = answerKeys;
    const server = await start();
    const answer = await server.post(list, await authorization.bearer());
    expect(answer.status).toBe(503);
    expectHarmless(server, answer);
  });
});

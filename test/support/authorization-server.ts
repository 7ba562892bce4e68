import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from "jose";
import { onTestFinished } from "vitest";

/** Under which address the resource servers under test are known. */
export const publicUrl = "https://mcp.example.com/team/mcp";

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly publicJwk: JWK;
  readonly privateKey: CryptoKey;
}

/** A claim that is undefined is left out of the token. */
type Claims = Record<string, unknown>;

/** An OAuth 2.1 authorization server, with real keys and real tokens, that can be taken down and up again. */
export class AuthorizationServer {
  readonly #server: Server;
  #port = 0;
  #keys: SigningKey[] = [];
  /** What was asked for with each code. */
  readonly #codes = new Map<string, URLSearchParams>();
  /** How the keys are answered; a test may put something worse in its place. */
  answerKeys: (res: ServerResponse) => void = (res) => sendJson(res, { keys: this.publishedKeys });
  keyRequests = 0;

  constructor() {
    this.#server = createServer((req, res) => void this.#answer(req, res));
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get publishedKeys(): JWK[] {
    return this.#keys.map(({ publicJwk, kid, alg }) => ({ ...publicJwk, kid, alg, use: "sig" }));
  }

  /** What a resource server is told about it. */
  get settings(): Record<string, string> {
    return {
      MCP_PUBLIC_URL: publicUrl,
      MCP_OAUTH_ISSUER: this.issuer,
      MCP_OAUTH_JWKS_URL: `${this.issuer}/jwks`,
      MCP_OAUTH_SCOPES: "mcp",
    };
  }

  async up(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Adds a key that tokens are signed with from now on. */
  async addKey(kid: string, alg = "RS256"): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    this.#keys.unshift({ kid, alg, privateKey, publicJwk: await exportJWK(publicKey) });
  }

  removeKey(kid: string): void {
    this.#keys = this.#keys.filter((key) => key.kid !== kid);
  }

  /** Claims that make a token valid; `changed` ones replace them. */
  claims(changed: Claims = {}): Claims {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: this.issuer,
      aud: publicUrl,
      sub: "alice",
      iat: now,
      exp: now + 300,
      scope: "mcp",
      ...changed,
    };
    return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
  }

  /** Signs a token with the newest key. */
  token(changed: Claims = {}, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const key = this.#keys[0] as SigningKey;
    return new SignJWT(this.claims(changed))
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt", ...header })
      .sign(key.privateKey, { crit: { must: true } });
  }

  async bearer(changed: Claims = {}, header: Partial<JWTHeaderParameters> = {}) {
    return { authorization: `Bearer ${await this.token(changed, header)}` };
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url as string, this.issuer);
    if (pathname === "/jwks") {
      this.keyRequests += 1;
      this.answerKeys(res);
    } else if (pathname === "/.well-known/oauth-authorization-server") {
      sendJson(res, {
        issuer: this.issuer,
        token_endpoint: `${this.issuer}/token`,
        authorization_endpoint: `${this.issuer}/authorize`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        grant_types_supported: ["authorization_code"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    } else if (pathname === "/authorize") {
      this.#authorize(searchParams, res);
    } else if (pathname === "/token") {
      await this.#grant(req, res);
    } else {
      res.writeHead(404).end();
    }
  }

  /** Asks nobody: alice agrees to everything, and is sent back with a code (OAuth 2.1, section 4.1). */
  #authorize(query: URLSearchParams, res: ServerResponse): void {
    const code = randomUUID();
    this.#codes.set(code, query);
    const location = `${query.get("redirect_uri")}?${new URLSearchParams({ code, state: query.get("state") ?? "" })}`;
    res.writeHead(302, { location }).end();
  }

  /** A token for a code, for the resource that the client named (RFC 8707), to who asked for the code (RFC 7636). */
  async #grant(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(req));
    const asked = this.#codes.get(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (asked?.get("code_challenge") !== challenge || asked.get("resource") !== form.get("resource")) {
      sendJson(res.writeHead(400), { error: "invalid_grant" });
      return;
    }
    const scope = asked.get("scope") ?? "";
    const token = await this.token({ aud: form.get("resource"), scope });
    sendJson(res, { access_token: token, token_type: "Bearer", expires_in: 300, scope });
  }
}

/** Starts one that ends with the test. */
export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const server = new AuthorizationServer();
  onTestFinished(() => server.down());
  await server.addKey("first");
  await server.up();
  return server;
}

function sendJson(res: ServerResponse, body: unknown): void {
  if (!res.headersSent) res.setHeader("Content-Type", "application/json");
  res.end(JSON.stringify(body));
}

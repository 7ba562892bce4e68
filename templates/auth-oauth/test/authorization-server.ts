import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** What the configuration needs before any authorization server runs. */
export const oauthSettings = {
	MCP_PUBLIC_URL: "http://127.0.0.1:3001/mcp",
	MCP_OAUTH_ISSUER: "https://issuer.example",
	MCP_OAUTH_JWKS_URL: "http://127.0.0.1:3002/jwks",
	MCP_OAUTH_SCOPES: "mcp",
};

/** Publishes a key, as an authorization server does, and signs access tokens with it. */
export async function startAuthorizationServer() {
	const { publicKey, privateKey } = await generateKeyPair("ES256");
	const key = { ...(await exportJWK(publicKey)), kid: "1", alg: "ES256" };
	const server = createServer((_req, res) => {
		res.setHeader("Content-Type", "application/json");
		res.end(JSON.stringify({ keys: [key] }));
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	const { MCP_OAUTH_ISSUER, MCP_OAUTH_SCOPES, MCP_PUBLIC_URL } = oauthSettings;

	return {
		settings: {
			...oauthSettings,
			MCP_OAUTH_JWKS_URL: `http://127.0.0.1:${port}/jwks`,
		},
		accessToken(claims: { aud?: string; scope?: string } = {}) {
			return new SignJWT({ scope: MCP_OAUTH_SCOPES, ...claims })
				.setProtectedHeader({ alg: "ES256", kid: "1" })
				.setIssuer(MCP_OAUTH_ISSUER)
				.setAudience(claims.aud ?? MCP_PUBLIC_URL)
				.setSubject("test")
				.setExpirationTime("5m")
				.sign(privateKey);
		},
		async close() {
			server.close();
			server.closeAllConnections();
		},
	};
}

import {
	createRemoteJWKSet,
	errors,
	type JWTPayload,
	type JWTVerifyGetKey,
	jwtVerify,
} from "jose";
import { config } from "../config.js";

/** Only these are accepted, whatever a token says: no `none`, no shared secrets. */
const algorithms = [
	"RS256",
	"RS384",
	"RS512",
	"PS256",
	"PS384",
	"PS512",
	"ES256",
	"ES384",
	"ES512",
	"EdDSA",
];

/** How far the clocks of the two servers may be apart (seconds). */
const clockTolerance = 5;

/** How often an unknown key may have the keys fetched again (milliseconds). */
const cooldownDuration = 5000;

/** What a valid access token grants. */
export interface Grant {
	readonly caller: string;
	readonly scopes: string[];
	/** In seconds since 1970. */
	readonly expiresAt: number;
}

/** The token may be fine: its authorization server cannot be asked for the keys. */
export class KeysUnavailable extends Error {
	override readonly name = "KeysUnavailable";
}

/**
 * Verifies a JWT access token (RFC 9068, section 4).
 *
 * @throws KeysUnavailable, or an error of jose's that says what is wrong.
 */
export async function verifyAccessToken(token: string): Promise<Grant> {
	const { MCP_OAUTH_AUDIENCE, MCP_OAUTH_ISSUER, MCP_PUBLIC_URL } = config();
	const { payload } = await jwtVerify(token, findKey, {
		algorithms,
		issuer: MCP_OAUTH_ISSUER,
		audience: MCP_OAUTH_AUDIENCE ?? MCP_PUBLIC_URL,
		requiredClaims: ["exp", "sub"],
		clockTolerance,
	});
	return {
		caller: String(payload.sub),
		scopes: scopesOf(payload),
		expiresAt: Number(payload.exp),
	};
}

/** "scope" is the standard's (RFC 9068, section 2.2.3); some servers write "scp". */
function scopesOf({ scope, scp }: JWTPayload): string[] {
	const granted = scope ?? scp ?? "";
	return Array.isArray(granted) ? granted.map(String) : `${granted}`.split(" ");
}

let keys: JWTVerifyGetKey | undefined;

/** Finds the key that a token names; the keys are fetched when first needed. */
const findKey: JWTVerifyGetKey = async (header, token) => {
	keys ??= createRemoteJWKSet(new URL(config().MCP_OAUTH_JWKS_URL), {
		cooldownDuration,
	});
	try {
		return await keys(header, token);
	} catch (error) {
		const isTokensFault =
			error instanceof errors.JWKSNoMatchingKey ||
			error instanceof errors.JWKSMultipleMatchingKeys ||
			error instanceof errors.JOSENotSupported;
		if (isTokensFault) throw error;
		throw new KeysUnavailable("No keys could be fetched", { cause: error });
	}
};

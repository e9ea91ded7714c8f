import type { Configuration } from 'openid-client';
import { SignInError } from '../core/identity/sign-in-error.ts';
import { type Claims, groupsIn, type SsoUser, userOf } from '../core/identity/sso-user.ts';
import type { Clock } from '../runtime/clock.ts';
import { failureOf } from './failure.ts';
import { loadOpenid, type Openid } from './openid.ts';
import type { Transaction } from './transaction.ts';

export interface ProviderSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Requested from the provider, separated by spaces. */
  scopes: string;
  groupsClaim: string;
  redirectUri: string;
  /** Where the provider sends the user after a sign-out. */
  signedOutUrl: string;
}

/** How long endpoints are kept; the library fetches new signing keys by itself. */
const METADATA_MS = 3_600_000;
const TIMEOUT_SECONDS = 10;

/**
 * An OpenID provider: authorization code with PKCE. The library checks state, issuer, audience,
 * nonce, times (30 s of skew) and signature. No token is kept.
 */
export class Provider {
  readonly #settings: ProviderSettings;
  readonly #clock: Clock;
  #found: { atMs: number; configuration: Promise<Configuration> } | null = null;

  constructor(settings: ProviderSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /**
   * The address of the sign-in page, and what its answer is checked against. With the prompt `login`
   * the provider does not reuse its own session, so that another user can sign in; with `none` it
   * shows no page.
   */
  async begin(
    prompt: 'login' | 'none' | null,
  ): Promise<{ url: string } & Pick<Transaction, 'state' | 'nonce' | 'verifier'>> {
    const { scopes: scope, redirectUri } = this.#settings;
    return await this.#using(async (openid, configuration) => {
      const [state, nonce] = [openid.randomState(), openid.randomNonce()];
      const verifier = openid.randomPKCECodeVerifier();
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope,
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(prompt && { prompt }),
      });
      return { url: url.href, state, nonce, verifier };
    });
  }

  /** `query` is that of the redirect back to us. */
  async finish(
    query: string,
    { state, nonce, verifier }: Pick<Transaction, 'state' | 'nonce' | 'verifier'>,
  ): Promise<{ user: SsoUser; groups: string[] }> {
    const { redirectUri, issuer, groupsClaim } = this.#settings;
    return await this.#using(async (openid, configuration) => {
      const answer = await openid.authorizationCodeGrant(
        configuration,
        new URL(`${redirectUri}?${query}`),
        { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce },
      );
      const token = answer.claims();
      if (!token) throw new SignInError('invalid', 'The identity provider sent no ID token.');
      let claims: Claims = token;
      let groups = groupsIn(claims, groupsClaim);
      // Many providers put the claims of scopes only into the answer of this endpoint.
      if (groups === null && configuration.serverMetadata().userinfo_endpoint !== undefined) {
        const more = await openid.fetchUserInfo(configuration, answer.access_token, token.sub);
        claims = { ...more, ...claims };
        groups = groupsIn(claims, groupsClaim);
      }
      if (groups === null) throw noGroups(groupsClaim);
      return { user: userOf(issuer, token.sub, claims), groups };
    });
  }

  /** Null when the provider has no sign-out. */
  async signOutUrl(): Promise<string | null> {
    return await this.#using((openid, configuration) => {
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      const back = { post_logout_redirect_uri: this.#settings.signedOutUrl };
      return openid.buildEndSessionUrl(configuration, back).href;
    });
  }

  /** Throws when the provider cannot be used. */
  async check(): Promise<void> {
    await this.#using((_openid, configuration) => {
      const { authorization_endpoint: page, token_endpoint: tokens } =
        configuration.serverMetadata();
      if (page && tokens) return;
      throw new SignInError('unavailable', 'The identity provider names no sign-in endpoints.');
    });
  }

  /**
   * Whether the provider knows our client with its redirect URI: it then sends a browser without a
   * session back to us. Null when it does something else, which says nothing.
   */
  async knowsClient(): Promise<boolean | null> {
    const { url } = await this.begin('none');
    const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1_000);
    const { status, headers } = await fetch(url, { redirect: 'manual', signal });
    const next = URL.parse(headers.get('location') ?? '', url)?.href;
    if (next?.startsWith(`${this.#settings.redirectUri}?`)) return true;
    return status >= 400 && status < 500 ? false : null;
  }

  async #using<T>(
    work: (openid: Openid, configuration: Configuration) => T | Promise<T>,
  ): Promise<T> {
    const openid = await loadOpenid();
    const configuration = await this.#configuration(openid).catch((error: unknown) => {
      throw new SignInError('unavailable', failureOf(error, openid).message);
    });
    try {
      return await work(openid, configuration);
    } catch (error) {
      throw failureOf(error, openid);
    }
  }

  /** After a failure the next sign-in tries again. */
  async #configuration(openid: Openid): Promise<Configuration> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#found && nowMs - this.#found.atMs < METADATA_MS) {
      return await this.#found.configuration;
    }
    const found = { atMs: nowMs, configuration: this.#discover(openid) };
    this.#found = found;
    try {
      return await found.configuration;
    } catch (error) {
      if (this.#found === found) this.#found = null;
      throw error;
    }
  }

  async #discover(openid: Openid): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const url = new URL(issuer);
    const basic = openid.ClientSecretBasic(clientSecret);
    const post = openid.ClientSecretPost(clientSecret);
    const configuration = await openid.discovery(
      url,
      clientId,
      undefined,
      // The standard says that all providers support Basic unless they list what they do.
      (server, ...rest) => {
        const methods = server.token_endpoint_auth_methods_supported;
        return (methods?.includes('client_secret_basic') ?? true)
          ? basic(server, ...rest)
          : post(server, ...rest);
      },
      {
        timeout: TIMEOUT_SECONDS,
        execute: [
          openid.enableNonRepudiationChecks,
          // The settings allow http for loopback only.
          ...(url.protocol === 'http:' ? [openid.allowInsecureRequests] : []),
        ],
      },
    );
    // The library makes exceptions, such as for the issuer of all tenants of Entra ID.
    const named = configuration.serverMetadata().issuer;
    if (URL.parse(named)?.href === url.href) return configuration;
    throw new SignInError(
      'unavailable',
      `The identity provider names the issuer ${named} instead of ${issuer}.`,
    );
  }
}

function noGroups(claim: string): SignInError {
  return new SignInError(
    'no-access',
    `The identity provider sent no claim "${claim}": add the groups of users to the client at the ` +
      'provider, or set LONGSHORE_OIDC_GROUPS_CLAIM or LONGSHORE_OIDC_SCOPES.',
  );
}

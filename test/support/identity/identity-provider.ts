import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const CLIENT = { clientId: 'longshore', clientSecret: 'a-secret-of-the-client' };

/** What the provider says about a user; the name is the login. */
export type Users = Record<string, Record<string, unknown>>;

type Change = (claims: Record<string, unknown>) => Record<string, unknown>;

/**
 * A real OpenID provider with its own sign-in and consent pages, on loopback. It accepts every
 * password. It can be made to sign ID tokens with wrong claims, or with a key that is not its own.
 */
export class IdentityProvider {
  readonly issuer: string;
  readonly #server: Server;
  readonly #keys: { own: KeyObject; foreign: KeyObject };
  /** Changes the claims of the next ID tokens. */
  changeClaims: Change | null = null;
  signsWrongly = false;

  private constructor(server: Server, publicUrl: string, users: Users, claimsInToken: boolean) {
    this.#server = server;
    // Another name than 127.0.0.1, so that for browsers it is another site.
    this.issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
    const [own, foreign] = [newKey(), newKey()];
    this.#keys = { own, foreign };
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: CLIENT.clientId,
          client_secret: CLIENT.clientSecret,
          redirect_uris: [`${publicUrl}/v1/sign-in/sso/callback`],
          post_logout_redirect_uris: [`${publicUrl}/ui/`],
        },
      ],
      jwks: { keys: [{ ...own.export({ format: 'jwk' }), kid: 'own', alg: 'RS256', use: 'sig' }] },
      cookies: { keys: [randomBytes(16).toString('hex')] },
      claims: { profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
      conformIdTokenClaims: !claimsInToken,
      pkce: { required: () => true },
      findAccount: (_context: unknown, accountId: string) => ({
        accountId,
        claims: async () => ({ sub: accountId, ...users[accountId] }),
      }),
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    });
    provider.use(async (context, next) => {
      await next();
      const { body } = context;
      if (context.oidc?.route === 'token' && isTokenAnswer(body)) {
        body.id_token = this.#signed(body.id_token);
      }
    });
    server.on('request', provider.callback());
  }

  static async start(
    publicUrl: string,
    users: Users,
    { claimsInToken = false } = {},
  ): Promise<IdentityProvider> {
    const server = createServer().listen(0);
    await once(server, 'listening');
    return new IdentityProvider(server, publicUrl, users, claimsInToken);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #signed(token: string): string {
    const [header = '', payload = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const changed = JSON.stringify(this.changeClaims?.({ ...claims }) ?? claims);
    const text = `${header}.${Buffer.from(changed).toString('base64url')}`;
    const key = this.signsWrongly ? this.#keys.foreign : this.#keys.own;
    return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
  }
}

function newKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
}

function isTokenAnswer(body: unknown): body is { id_token: string } {
  return typeof body === 'object' && body !== null && 'id_token' in body;
}

import {
  chooseRights,
  type GroupRule,
  rightsOf,
  type TenantRights,
} from '../core/identity/group-rules.ts';
import { SignInError } from '../core/identity/sign-in-error.ts';
import type { SsoUser } from '../core/identity/sso-user.ts';
import type { Clock } from '../runtime/clock.ts';
import { Provider, type ProviderSettings } from './provider.ts';
import { type Transaction, Transactions } from './transaction.ts';

export const CALLBACK_PATH = '/v1/sign-in/sso/callback';

export interface SignInSettings extends Omit<ProviderSettings, 'redirectUri' | 'signedOutUrl'> {
  /** Where browsers reach this server, without a slash at the end. */
  publicUrl: string;
  rules: readonly GroupRule[];
}

/** A user with access. Without a choice of tenant the user has to make one. */
export interface SignedIn {
  user: SsoUser;
  rights: readonly TenantRights[];
  chosen: TenantRights | null;
  to: string;
}

const SHOWN_MAX = 20;

/** Sign-in through the identity provider, from the button to a user with rights. Keeps no state. */
export class SignIn {
  readonly issuer: string;
  readonly publicUrl: string;
  /** The identity provider must know it. */
  readonly redirectUri: string;
  readonly #rules: readonly GroupRule[];
  readonly #clock: Clock;
  readonly #provider: Provider;
  readonly #transactions: Transactions;

  constructor({ publicUrl, rules, ...settings }: SignInSettings, clock: Clock) {
    this.issuer = settings.issuer;
    this.publicUrl = publicUrl;
    this.#rules = rules;
    this.#clock = clock;
    const redirectUri = `${publicUrl}${CALLBACK_PATH}`;
    this.redirectUri = redirectUri;
    const signedOutUrl = `${publicUrl}/ui/`;
    this.#provider = new Provider({ ...settings, redirectUri, signedOutUrl }, clock);
    this.#transactions = new Transactions(settings.clientSecret);
  }

  /** Whether a user may choose: there are groups of several tenants. */
  get hasTenants(): boolean {
    return new Set(this.#rules.map(({ tenant }) => tenant)).size > 1;
  }

  async begin(
    wanted: Pick<Transaction, 'to' | 'tenant'>,
    { asksAgain = false } = {},
  ): Promise<{ url: string; sealed: string }> {
    const { url, ...begun } = await this.#provider.begin(asksAgain ? 'login' : null);
    const sealed = this.#transactions.seal({ ...begun, ...wanted }, this.#nowMs());
    return { url, sealed };
  }

  /** `sealed` comes back in a cookie, `query` from the identity provider. */
  async finish(query: string, sealed: string | null): Promise<SignedIn> {
    const transaction = sealed === null ? null : this.#transactions.open(sealed, this.#nowMs());
    if (transaction === null || new URLSearchParams(query).get('state') !== transaction.state) {
      throw new SignInError(
        'stale',
        'The sign-in took longer than ten minutes, was replaced by a later one, or began at ' +
          `another address than ${this.publicUrl}.`,
      );
    }
    const { user, groups } = await this.#provider.finish(query, transaction);
    const { to, tenant } = transaction;
    const rights = rightsOf(groups, this.#rules);
    if (rights.length === 0) throw this.#noAccess(groups);
    const chosen = chooseRights(rights, tenant);
    if (tenant !== null && chosen === null) {
      throw new SignInError('no-access', `Your groups give no access to the tenant "${tenant}".`);
    }
    return { user, rights, chosen, to };
  }

  async signOutUrl(): Promise<string | null> {
    return await this.#provider.signOutUrl();
  }

  /** For `longshore doctor`. Throws when the provider cannot be used. */
  async check(): Promise<{ knowsClient: boolean | null }> {
    await this.#provider.check();
    return { knowsClient: await this.#provider.knowsClient() };
  }

  #noAccess(groups: readonly string[]): SignInError {
    const own = groups.length === 0 ? 'You are in no group' : `Your groups are ${listed(groups)}`;
    const needed = listed([...new Set(this.#rules.map(({ group }) => group))]);
    return new SignInError('no-access', `${own}. Access needs one of: ${needed}.`);
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_MAX).join(', ');
  return names.length > SHOWN_MAX ? `${shown} and ${names.length - SHOWN_MAX} more` : shown;
}

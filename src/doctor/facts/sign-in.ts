import { isLoopback } from '../../core/access/bind.ts';
import type { Config } from '../../config/config.ts';
import type { SignIn } from '../../identity/sign-in.ts';
import type { SignInFacts } from '../sign-in.ts';
import { troubleOf } from './trouble.ts';

export async function inspectSignIn(
  signIn: SignIn,
  { host, allowedHosts }: Config,
): Promise<SignInFacts> {
  const { issuer, redirectUri } = signIn;
  const { hostname, protocol } = new URL(redirectUri);
  const accepted = [host, ...(allowedHosts?.split(',') ?? [])].map((name) => name.toLowerCase());
  return {
    issuer,
    redirectUri,
    ...(await signIn.check().then(
      (checked) => ({ ...checked, trouble: null }),
      (error: unknown) => ({ knowsClient: null, trouble: troubleOf(error).reason }),
    )),
    servesPublicHost:
      isLoopback(hostname) || accepted.includes('*') || accepted.includes(hostname.toLowerCase()),
    isEncrypted: protocol === 'https:' || isLoopback(hostname),
  };
}

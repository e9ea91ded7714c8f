/** 1 MB of code that only servers with an identity provider load. */
export const loadOpenid = async () => await import('openid-client');
export type Openid = Awaited<ReturnType<typeof loadOpenid>>;

/** Answer of the core's `POST /v2/secrets/mask`: whether a secret was found, and then the JSON value without it. */
export type SecretMaskAnswer = { masked: false } | { masked: true; value: unknown };

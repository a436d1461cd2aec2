/** How long a second factor stays valid for dangerous acts. */
const proofLastsMs = 10 * 60_000;
/** A clock that is corrected by a moment ends no proof. */
const mayBeAheadMs = 60_000;

/** Whether a second factor that was given at `provenAt` still counts. One that is dated ahead does not: the clock was ahead. */
export const isProofFresh = (provenAt: number, now: number): boolean =>
  provenAt - now <= mayBeAheadMs && now - provenAt <= proofLastsMs;

/** Where a person is signed in. Times are epoch ms. */
export type LoginSession = {
  id: string;
  device: string;
  /** How it was signed in. */
  method: 'password' | 'passkey';
  created_at: number;
  seen_at: number;
  expires_at: number;
  /** When a second factor was last shown there. */
  proven_at: number;
};

/** A passkey that signs in alone. Times are epoch ms. */
export type Passkey = {
  /** The credential's id, base64url. */
  id: string;
  name: string;
  /** The host name that it is bound to. */
  host: string;
  created_at: number;
  used_at: number | null;
};

/** The next step of a set-up, with what the page has to show for it. */
export type SetUpState =
  | { step: 'account' }
  | { step: 'totp'; name: string; secret: string; uri: string }
  | { step: 'recovery'; name: string };

/** Answers of `/v2/auth/*`. `session_token` is for the storage of the page's own origin; the cookie goes beside it. */
export type SignedIn = { ok: true; session_token: string };
/** `is_set`: its codes sign in. */
export type TotpAnswer = { is_set: boolean };
/** A key that is not in use yet: `id` goes with its first code, `uri` is the content of its QR code. */
export type TotpBegun = { ok: true; id: string; secret: string; uri: string };
export type RecoveryCodesAnswer = { ok: true; recovery_codes: string[] };
/** `options` is what `navigator.credentials` gets, in the JSON form of WebAuthn. */
export type PasskeyOptionsAnswer = { ok: true; options: Record<string, unknown> };

const name = { type: 'string', minLength: 1, maxLength: 64, pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$' } as const;
const password = { type: 'string', minLength: 1, maxLength: 1024 } as const;
const code = { type: 'string', minLength: 1, maxLength: 64 } as const;
const base64url = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength, pattern: '^[\\w-]+$' }) as const;
const body = <P extends Record<string, object>, R extends readonly (keyof P & string)[]>(properties: P, required: R) =>
  ({ type: 'object', additionalProperties: false, properties, required }) as const;

export const accountBody = body({ name, password }, ['name', 'password'] as const);
export const signInBody = body({ name, password, code }, ['name', 'password', 'code'] as const);
export const codeBody = body({ code }, ['code'] as const);
export const totpBody = body({ id: base64url(64), code }, ['id', 'code'] as const);
export const passwordBody = body({ password, new_password: password }, ['password', 'new_password'] as const);

/** What an authenticator signs, in the JSON form of WebAuthn. Other fields are accepted and dropped. */
const response = (properties: Record<string, object>, required: readonly string[]) =>
  ({
    type: 'object',
    required: ['id', 'rawId', 'type', 'response'],
    properties: {
      id: base64url(1400),
      rawId: base64url(1400),
      type: { const: 'public-key' },
      response: { type: 'object', required, properties },
      clientExtensionResults: { type: 'object' },
      authenticatorAttachment: { type: ['string', 'null'], maxLength: 64 },
    },
  }) as const;
const clientDataJSON = base64url(8192);
export const passkeyAddBody = body(
  {
    name: { type: 'string', minLength: 1, maxLength: 64, pattern: '\\S' } as const,
    response: response(
      {
        clientDataJSON,
        attestationObject: base64url(65_536),
        transports: { type: 'array', maxItems: 16, items: { type: 'string', maxLength: 32 } },
      },
      ['clientDataJSON', 'attestationObject'],
    ),
  },
  ['name', 'response'] as const,
);
export const passkeyRenameBody = body({ name: { type: 'string', minLength: 1, maxLength: 64, pattern: '\\S' } as const }, [
  'name',
] as const);
export const passkeyProofBody = body(
  {
    response: response({ clientDataJSON, authenticatorData: base64url(8192), signature: base64url(8192) }, [
      'clientDataJSON',
      'authenticatorData',
      'signature',
    ]),
  },
  ['response'] as const,
);

/** What is reported of the login: who did it is the event's `identity`. */
export type LoginAction =
  | 'set_up'
  | 'reset'
  | 'signed_in'
  | 'refused'
  | 'stepped_up'
  | 'signed_out'
  | 'session_ended'
  | 'password_changed'
  | 'recovery_codes_made'
  | 'passkey_added'
  | 'passkey_removed'
  | 'app_added'
  | 'app_replaced'
  | 'app_removed';

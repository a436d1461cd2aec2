/**
 * An app of ours asks its own server alone, runs no text as code and can be framed by nobody. `blob:` is for files that were chosen and for
 * what was recorded.
 */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  'media-src blob:',
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svc',
].join('; ');

/** Sent with each file of a web app of ours. `features`: what its pages may ask a person for, such as the microphone. */
export const webAppHeaders = (features: readonly string[]): Record<string, string> => ({
  'content-security-policy': contentPolicy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': [...features.map((name) => `${name}=(self)`), 'payment=()', 'usb=()'].join(', '),
});

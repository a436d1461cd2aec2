/**
 * Our web apps call only their own server, run no text as code and cannot be framed. `blob:` is for chosen files and for
 * recordings.
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

/** Sent with each file of our web apps. `features`: what its pages may request from a person, such as the microphone. */
export const webAppHeaders = (features: readonly string[]): Record<string, string> => ({
  'content-security-policy': contentPolicy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': [...features.map((name) => `${name}=(self)`), 'payment=()', 'usb=()'].join(', '),
});

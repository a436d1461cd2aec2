const certificates = new Set(['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS']);

/** Whether npm goes by a variable: one of its own settings, or how the network is reached. */
export const isForNpm = (name: string): boolean =>
  certificates.has(name) || /^npm_config_/i.test(name) || /^(https?|no|all)_proxy$/i.test(name);

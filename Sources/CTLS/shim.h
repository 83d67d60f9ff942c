// Swift sees no macros with arguments or casts, of which OpenSSL's interface has many.
#pragma once
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Sets what every client's context needs: TLS 1.2 or later, a check of the server's certificate, and no renegotiation,
// for which a write would have to wait for a read.
static inline void ctls_configure(SSL_CTX *context) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    // An authority between the server's and its root may be trusted alone, as with curl.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    // What isn't sent yet may move in memory before it is.
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

// Tells the server by which name it was found (RFC 6066 section 3).
static inline void ctls_set_server_name(SSL *session, const char *name) {
    SSL_set_tlsext_host_name(session, name);
}

// Keeps OpenSSL from freeing its state in `exit`, while a thread still uses it.
static inline void ctls_outlive_exit(void) { OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL); }

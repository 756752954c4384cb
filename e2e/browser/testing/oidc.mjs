// Simulates the package oidc-client-ts.

export const session = { user: undefined, renewed: undefined }

export class UserManager {
  async getUser() { return session.user }
  async signinSilent() { return session.renewed }
}

/** Where the service is: what this page stands beside, without a slash at its end. */
export const serviceUrl: string = new URL('.', location.href).href.replace(/\/$/, '')

/** Something of a store that a person should mend. `since` in ms by the ledger's clock; `target` names what it is about. */
export type StoreWarning = { since: number; target: string; sentence: string }

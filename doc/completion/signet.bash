# bash completion for signet: source it, or put it in /usr/share/bash-completion/completions/signet
_signet() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "call list read prompt listen trace keys token version --help" -- "$current"))
    return
  fi
  case $previous in
    --answers | --save | --resume | --token-file | --ca | --last-state | --ring | --file | --params)
      COMPREPLY=($(compgen -f -- "$current"))
      return
      ;;
    --versions) words="any modern handshake" ;;
    --log-level) words="debug info notice warning error critical alert emergency" ;;
    *)
      words="--json --header --token-file --env --ca --timeout --versions --log-level --verbose --help"
      case $command in
        call | trace | read | prompt) words+=" --yes --answers --answer --rounds --save --force --resume" ;;&
        call | trace) words+=" --arguments" ;;&
        trace) words+=" --full --last-state" ;;
        list) words+=" tools prompts resources templates" ;;
        listen) words+=" --uri --task tools prompts resources" ;;
        keys) words="generate list rotate retire check --ring --help" ;;
        token) words="seal open inspect --ring --help" ;;
        version) words= ;;
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _signet signet

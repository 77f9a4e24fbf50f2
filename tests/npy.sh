# npy.sh: sourced by the check_*.sh: small files of tensors, byte by byte.

# word HEX: its bytes, lowest first
word() {
    rest=$1
    while [ -n "$rest" ]; do
        head=${rest%??}
        # shellcheck disable=SC2059
        printf "\\$(printf '%03o' "0x${rest#"$head"}")"
        rest=$head
    done
}

# npy FILE DESCR SHAPE WORDS...: a .npy of these codes
npy() {
    file=$1
    header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
    shift 3
    {
        printf '\223NUMPY\001\000'
        word "$(printf '%04x' ${#header})"
        printf '%s' "$header"
        for code in "$@"; do word "$code"; done
    } >"$file"
}

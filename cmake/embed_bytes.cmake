# Sets RESULT to C++ code that defines the array SYMBOL of TYPE with the bytes of FILE, and SYMBOL_end
# at its end. The assembler takes the bytes in: megabytes of numbers would keep the compiler busy for
# minutes. The names are hidden: on arm64 the compiler otherwise loads addresses from the global offset
# table, where the linker has one entry for all names of a section.
function(embed_bytes result type symbol file)
  set(${result}
"extern \"C\" [[gnu::visibility(\"hidden\")]] const ${type} ${symbol}[], ${symbol}_end[];
asm(\".pushsection .rodata\\n.balign 16\\n${symbol}:\\n.incbin \\\"${file}\\\"\\n\"
    \"${symbol}_end:\\n.byte 0\\n.popsection\\n\");
" PARENT_SCOPE)
endfunction()
